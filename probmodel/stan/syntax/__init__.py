"""The text of Stan programs: words, grammar, the tree that they make."""
