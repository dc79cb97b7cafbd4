"""From files to shards: `plan` cuts the repository into units, `worker` crawls one unit, `run` drives a whole crawl."""
