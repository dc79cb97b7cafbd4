package shop;

import junit.framework.TestCase;

public class OldestTest extends TestCase {
    public void testAdds() {
        Till till = new Till();
        till.add(1);
        assertEquals(1, till.total());
    }
}
