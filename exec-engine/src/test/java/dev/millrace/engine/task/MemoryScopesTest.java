package dev.millrace.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** Whoever is to give way does, whatever goes wrong with others. */
class MemoryScopesTest {
    private static final double ALL = 1;

    private final List<String> gone = new ArrayList<>();

    private MemoryScope scope(MemoryScopes scopes, String owner, Runnable end) {
        MemoryScope scope = scopes.newScope(owner);
        scope.mayGiveWay(why -> {
            gone.add(owner);
            end.run();
        });
        return scope;
    }

    @Test
    void aQueryThatCannotBeFreedKeepsNoOtherFromGivingWay() {
        try (MemoryScopes scopes = new MemoryScopes(1 << 20, Runnable::run)) {
            MemoryScope a = scope(scopes, "a", () -> {
                throw new IllegalStateException("on purpose");
            });
            MemoryScope b = scope(scopes, "b", () -> {});
            scopes.giveWay(ALL, owner -> owner);
            assertEquals(List.of("a", "b"), gone);
            assertFalse(scopes.areGivingWay());
            scopes.release(a);
            scopes.release(b);
        }
    }

    @Test
    void thoseThatFindNoThreadToGiveWayOnAreAskedAgain() {
        boolean[] hasThreads = {false};
        Executor threads = task -> {
            if (!hasThreads[0]) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            task.run();
        };
        try (MemoryScopes scopes = new MemoryScopes(1 << 20, threads)) {
            MemoryScope a = scope(scopes, "a", () -> {});
            assertThrows(OutOfMemoryError.class, () -> scopes.giveWay(ALL, owner -> owner));
            assertEquals(List.of(), gone);
            assertFalse(scopes.areGivingWay());
            hasThreads[0] = true;
            scopes.giveWay(ALL, owner -> owner);
            assertEquals(List.of("a"), gone);
            scopes.release(a);
        }
    }
}
