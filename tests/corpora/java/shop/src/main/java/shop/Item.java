package shop;

public class Item implements Priced {
    private final int cents;

    public Item(int cents) {
        this.cents = cents;
    }

    public Item() {
        this(0);
    }

    @Override
    public int price() {
        return cents;
    }

    public Item twice() {
        return new Item(2 * cents);
    }
}
