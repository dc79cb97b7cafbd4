package shop;

import static org.junit.Assert.assertTrue;

import org.junit.Test;

public abstract class TillBase {
    abstract Till till();

    @Test
    public void startsEmpty() {
        assertTrue(till().isEmpty());
    }
}
