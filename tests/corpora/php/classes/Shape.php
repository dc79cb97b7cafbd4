<?php

declare(strict_types=1);

namespace Acme\Classes;

/** Whatever is drawn. */
interface Drawable
{
    const UNIT = 'px';

    public function draw(int $times): string;
}

abstract class Shape implements Drawable, \Countable
{
    use Counts, Logs {
        Counts::tell insteadof Logs;
        Logs::tell as protected tellLoud;
    }

    protected const SIDES = 0;
    private static int $made = 0;

    public function __construct(protected string $name, private ?Shape $inner = null)
    {
        self::$made++;
        $this->boot();
    }

    public static function of(string $name): static
    {
        return new static($name);
    }

    public function draw(int $times): string
    {
        return $this->name . static::SIDES . self::UNIT . $this->tell() . $this->tellLoud() . $this->inner?->area();
    }

    abstract public function area(): float;
}

final class Circle extends Shape
{
    protected const SIDES = 1;

    public function area(): float
    {
        return M_PI * parent::count();
    }
}

trait Counts
{
    private int $counted = 0;

    public function count(): int
    {
        return ++$this->counted;
    }

    protected function boot(): void
    {
        $this->counted = 1;
    }

    public function tell(): string
    {
        return (string) $this->counted;
    }
}

trait Logs
{
    abstract protected function boot(): void;

    public function tell(): string
    {
        return 'loud';
    }
}

enum Suit: string implements Drawable
{
    case Hearts = 'H';
    case Spades = 'S';
    const WILD = self::Spades;

    public function draw(int $times): string
    {
        return match ($this) {
            self::Hearts => $this->value,
            Suit::Spades => Suit::from('S')->name,
        };
    }
}
