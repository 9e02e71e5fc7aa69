package dev.millrace.type;

/**
 * What NUMERIC without digits means in the text that is being bound, and what results are that no declared digits have room for. A
 * definition keeps the meaning that it was made with: what it computes, and the state that is kept of it, stay what they are.
 *
 * <p>Bound to the thread that binds and plans, for as long as it does; {@link #UNLIMITED} where nothing is bound.
 */
public enum PlainNumeric {
    /** Numbers of any size, {@link DataType.Kind#BIGNUM}; so are results of more than 38 digits, quotients and averages. */
    UNLIMITED,

    /** {@code numeric(38,16)}, and results are cut to 38 digits: in definitions from before there were numbers of any size. */
    LIMITED;

    private static final ThreadLocal<PlainNumeric> BOUND = ThreadLocal.withInitial(() -> UNLIMITED);

    /** Ends a binding; on the thread that began it. */
    public interface Binding extends AutoCloseable {
        @Override
        void close();
    }

    /** What it means in what the calling thread binds. */
    public static PlainNumeric current() {
        return BOUND.get();
    }

    /** Whether it is numbers of any size there. */
    public static boolean isUnlimited() {
        return current() == UNLIMITED;
    }

    /** What the calling thread binds from now on is bound so, until the binding is closed. Bindings nest. */
    public Binding bind() {
        PlainNumeric before = BOUND.get();
        BOUND.set(this);
        return () -> BOUND.set(before);
    }
}
