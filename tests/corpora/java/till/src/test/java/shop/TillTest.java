package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TillTest {
    private Till till;

    @BeforeEach
    void fill() {
        till = new Till();
        till.add(5);
    }

    @Test
    void counts() {
        assertEquals(5, till.total());
    }

    @Test
    void countsWrongly() {
        assertEquals(6, till.total());
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 149})
    void rounds(int cents) {
        assertEquals(1, Till.rounded(cents));
    }

    @ParameterizedTest
    @MethodSource("amounts")
    void roundsGiven(int cents) {
        assertTrue(cents > 0);
    }

    static Stream<Integer> amounts() {
        return Stream.of(Till.rounded(100), 2);
    }

    @RepeatedTest(2)
    void again() {
        assertEquals(5, till.total());
    }

    @Nested
    class WhenNew {
        @Test
        void isEmpty() {
            assertTrue(new Till().isEmpty());
        }
    }
}
