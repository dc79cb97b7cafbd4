<?php
namespace Acme\Names\User;

use Acme\Names\Target;
use Acme\Names\{Target as Aimed, User\Own};
use Acme\Names as Everything;
use function Acme\Names\helper;
use function Acme\Names\helper as helped;
use const Acme\Names\LIMIT;

class Own extends Target
{
}

function go(Target|Own|null $given, Aimed $aimed): ?\Acme\Names\Target
{
    $given?->go();
    $aimed->go();
    \Acme\Names\helper(LIMIT);
    echo helper(), helped(x: ACME_DEFINED), \strlen('x'), namespace\other();
    try {
        throw new \RuntimeException('x');
    } catch (\RuntimeException | \LogicException $caught) {
        echo $caught->getMessage();
    }
    if ($given instanceof Everything\Target) {
        return Everything\Target::make();
    }
    return (new Own())->make();
}

function other(): string
{
    return Own::class;
}
