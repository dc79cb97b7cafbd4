package shop;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ItemTest {
    private Item item;

    @BeforeEach
    void prepare() {
        item = new Item(3);
    }

    @Test
    void twice_as_much() {
        if (item.twice().price() != 6) {
            throw new AssertionError();
        }
    }
}
