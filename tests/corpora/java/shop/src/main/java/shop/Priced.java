package shop;

/** What has a price. */
public interface Priced {
    int price();

    default String label() {
        return "€ " + price();
    }
}
