<?php
namespace Acme\Values;

#[\Attribute]
class Box
{
    public array $items = [];
    public int $count { get => count($this->items); }

    /** @return array{int, int} */
    public function pair(): array
    {
        return [1, 2];
    }
}

function values(Box $box, array &$out): int
{
    global $settings;
    static $calls = 0;
    [$a, [, 'k' => $b]] = $box->pair();
    list($c) = $box->pair();
    $box->items['x'][] = $a;
    $box->items += ['y' => $b];
    foreach ($box->items as $key => &$item) {
        $item = "$key: {$box->items['x']} $settings";
    }
    unset($box->items['x'], $c);
    if (preg_match('/x/', $key, $matches)) {
        $out[] = $matches[0];
    }
    $text = <<<TEXT
        {$box->pair()[0]} and $box->count
        TEXT;
    $$text = isset($item) ? ++$calls : $calls--;
    return $box->count;
}

$settings = new Box();
echo values($settings, $settings->items);
include 'other.php';
