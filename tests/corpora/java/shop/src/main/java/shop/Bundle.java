package shop;

import static shop.Sums.total;

import java.util.List;
import java.util.function.ToIntFunction;

public class Bundle extends Item {
    private final List<? extends Priced> parts;

    public Bundle(List<? extends Priced> parts) {
        super(1);
        this.parts = parts;
    }

    @Override
    public int price() {
        ToIntFunction<Priced> each = Priced::price;
        return total(parts, each) + total(1) + super.price();
    }

    record Line(Priced what, int count) {
        int sum() {
            return what().price() * count;
        }
    }

    enum Size { SMALL, LARGE }

    Size size() {
        return new Line(this, parts.size()).count() > 2 ? Size.LARGE : Size.valueOf("SMALL");
    }
}
