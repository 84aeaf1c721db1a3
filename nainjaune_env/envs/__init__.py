"""The environment through other libraries' doors, one thin adaptor a file."""
