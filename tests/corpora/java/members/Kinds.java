package members;

import static members.Kinds.Side.LEFT;

import java.util.function.Supplier;

class Kinds {
    enum Side {
        LEFT,
        RIGHT {
            int turn() {
                return 2;
            }
        };

        int turn() {
            return 1;
        }
    }

    record Point(int across, int down) {
        Point {
            check(across);
        }

        static void check(int value) {}
    }

    sealed interface Shape permits Disc {}

    static final class Disc implements Shape {}

    static class Knocker {
        public void knock() {}
    }

    interface Knocks {
        void knock();
    }

    static class Porter extends Knocker implements Knocks {}

    int total = sum(1);

    Kinds() {
        this(2);
    }

    Kinds(int more) {
        total += more;
    }

    static int sum(int... values) {
        return values.length;
    }

    static String sum(String text) {
        return text;
    }

    Object use(Knocks knocks, Side side, Point point) {
        knocks.knock();
        Supplier<Kinds> made = Kinds::new;
        Runnable ring = () -> side.turn();
        Knocks own = new Knocks() {
            public void knock() {
                sum("a");
            }
        };
        return switch (side) {
            case LEFT -> point.across();
            default -> sum(1, 2) + LEFT.turn();
        };
    }
}
