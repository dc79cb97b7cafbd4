"""What machines and maintainers run beside the product: benchmarks, continuous integration, releases."""
