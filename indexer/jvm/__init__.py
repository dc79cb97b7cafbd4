"""Java, asked of its own compiler: sources are compiled with a plugin that writes what each name means, and a server answers from that."""
