package dev.millrace.interrupt;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import org.junit.jupiter.api.Test;

class InterruptTest {
    private final MillraceException first = MillraceException.user(SqlState.QUERY_CANCELED, "first");

    @Test
    void stopsThreadsThatAreBoundToIt() {
        Interrupt interrupt = new Interrupt();
        try (Interrupt.Binding binding = interrupt.bind()) {
            assertDoesNotThrow(Interrupt::checkCurrent);
            interrupt.stop(first);
            interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "second"));
            assertSame(
                    first,
                    assertThrows(MillraceException.class, Interrupt::checkCurrent)
                            .getCause());
        }
        assertDoesNotThrow(Interrupt::checkCurrent);
    }

    @Test
    void innerBindingsHideOuterOnesUntilTheyEnd() {
        Interrupt outer = new Interrupt();
        outer.stop(first);
        try (Interrupt.Binding around = outer.bind()) {
            try (Interrupt.Binding within = new Interrupt().bind()) {
                assertDoesNotThrow(Interrupt::checkCurrent);
            }
            assertThrows(MillraceException.class, Interrupt::checkCurrent);
        }
    }

    @Test
    void throwsAnotherExceptionEachTimeSoThatOneMaySuppressTheOther() {
        Interrupt interrupt = new Interrupt();
        interrupt.stop(first);
        MillraceException once = assertThrows(MillraceException.class, interrupt::check);
        once.addSuppressed(assertThrows(MillraceException.class, interrupt::check));
        assertEquals("first", once.getMessage());
    }

    @Test
    void doesNotStopWhatIsDoneForOthers() {
        Interrupt interrupt = new Interrupt();
        interrupt.stop(first);
        try (Interrupt.Binding binding = interrupt.bind()) {
            try (Interrupt.Binding others = Interrupt.shield()) {
                assertDoesNotThrow(Interrupt::checkCurrent);
            }
            assertThrows(MillraceException.class, Interrupt::checkCurrent);
        }
    }

    @Test
    void refusesToStopWhatNothingIsBoundTo() {
        assertThrows(IllegalStateException.class, () -> Interrupt.current().stop(first));
    }
}
