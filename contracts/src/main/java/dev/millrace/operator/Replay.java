package dev.millrace.operator;

/** An updating operator that can tell its whole answer again, to those who were not there when it was told. */
public interface Replay extends Operator {
    /** At the next end of an epoch all rows of the answer are emitted as new. Called once, after {@code restore}. */
    void replay();
}
