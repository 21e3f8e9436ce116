"""The recipe of the embedded model: corpus, tokenizer, training and evaluation, each a command of its own."""
