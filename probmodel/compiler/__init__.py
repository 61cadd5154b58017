"""From a bound model to machine code: programs of one chain, and what runs them."""
