package shop;

public class Till {
    private int cents;

    public Till() {
        this.cents = 0;
    }

    public void add(int more) {
        cents += more;
    }

    public int total() {
        return cents;
    }

    public static int rounded(int cents) {
        return (cents + 50) / 100;
    }

    public boolean isEmpty() {
        return cents == 0;
    }
}
