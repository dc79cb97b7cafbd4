"""What a language's own toolchain answers: builds, test runs, documentation. No language server is asked."""
