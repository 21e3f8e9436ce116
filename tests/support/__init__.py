"""What tests share: doubles, event builders, servers, and the commands that write generated files."""
