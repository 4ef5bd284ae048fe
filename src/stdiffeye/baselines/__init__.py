"""The other systems of the paper's tables, each in one file on shared parts, trained and drawn from like ours."""
