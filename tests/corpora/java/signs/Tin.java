package signs;

import java.util.Iterator;
import java.util.List;

interface Holds {}

class Tin implements Holds, Iterable<Integer>, AutoCloseable {
    public Iterator<Integer> iterator() {
        return List.of(1).iterator();
    }

    public String toString() {
        return "tin";
    }

    public void close() {}
}

class Shelf {
    String tell(Tin tin, Holds holds) {
        String text = "a " + tin;
        text += holds;
        for (int item : tin) {
            text += item;
        }
        try (tin; Tin other = new Tin()) {
            return text + other;
        }
    }
}
