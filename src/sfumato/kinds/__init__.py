"""What all kinds of data other than tables share: promises, searches, the audit, the recipe and the written release."""
