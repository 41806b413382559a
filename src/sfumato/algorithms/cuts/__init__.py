"""Global recoding by cuts: for every attribute, parts of its values that are published alike wherever they occur."""
