package shop;

import static org.junit.Assert.assertEquals;

import java.util.Arrays;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class OldTillTest {
    private final int cents;

    public OldTillTest(int cents) {
        this.cents = cents;
    }

    @Parameterized.Parameters
    public static Iterable<Object[]> given() {
        return Arrays.asList(new Object[][] {{100}, {120}});
    }

    @Test
    public void rounds() {
        assertEquals(1, Till.rounded(cents));
    }

    @Test
    public void roundsToo() {
        assertEquals(1, Till.rounded(cents));
    }
}
