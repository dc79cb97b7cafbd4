package shop;

import java.util.List;
import java.util.function.ToIntFunction;

final class Sums {
    private Sums() {}

    static <T> int total(List<? extends T> all, ToIntFunction<T> value) {
        int sum = 0;
        for (T one : all) {
            sum += value.applyAsInt(one);
        }
        return sum;
    }

    static int total(int one) {
        return one;
    }
}
