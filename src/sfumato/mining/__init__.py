"""What is mined from data: item sets and rules, hiding the sensitive ones, and trees that single nobody out."""
