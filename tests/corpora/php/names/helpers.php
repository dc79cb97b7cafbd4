<?php
namespace Acme\Names;

const LIMIT = 3;
define('ACME_DEFINED', 4);

function helper(int $x = LIMIT): int
{
    return $x;
}

class Target
{
    public static function make(): self
    {
        return new self();
    }

    public function go(): void
    {
    }
}
