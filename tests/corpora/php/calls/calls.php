<?php
namespace Acme\Calls;

interface Listens
{
    public function hear(string $what): void;
}

class Bus
{
    /** @var list<Listens> */
    private array $all = [];
    public $last;

    public function add(Listens $one): static
    {
        $this->all[] = $this->last = $one;
        return $this;
    }

    public function tell(string $what): void
    {
        foreach ($this->all as $one) {
            $one->hear($what);
        }
    }

    public function __call(string $name, array $given): mixed
    {
        return $this->$name(...$given);
    }

    public function __invoke(): int
    {
        return 1;
    }
}

function nameless(): Bus
{
    $bus = new Bus();
    return $bus->add(new class ($bus) implements Listens {
        public function __construct(private Bus $bus)
        {
        }

        public function hear(string $what): void
        {
            ($this->bus)();
        }
    })->add(new class implements Listens {
        public function hear(string $what): void
        {
        }
    });
}

function closures(Bus $bus, callable $given): array
{
    $outer = 1;
    $inner = function (string $x) use ($bus, &$outer): void {
        $bus->tell($x . $outer);
    };
    $short = fn (string $x) => $bus->tell($x . $outer);
    $inner('a');
    $given('b');
    array_map([$bus, 'tell'], ['c']);
    call_user_func('Acme\Calls\nameless');
    $class = Bus::class;
    $method = 'tell';
    (new $class())->$method('d');
    return [$bus->tell(...), strlen(...), $short];
}

nameless()->tell("to {$_SERVER['x']}");
