package shop;

public class PlainTillTest extends TillBase {
    Till till() {
        return new Till();
    }
}
