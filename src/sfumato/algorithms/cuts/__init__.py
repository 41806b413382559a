"""Global recoding by cuts: every attribute is divided into parts that are published alike wherever they occur."""
