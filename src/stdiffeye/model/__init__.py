"""The network, in small classes bottom-up. It does not know diffusion."""
