package dev.millrace.memory;

import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Where accesses to memory are checked, fails the test in which a wrong one was made, also if its error was answered and
 * forgotten. Every test has it, as it is found by its name; being made it sees to it that all of Arrow's memory is checked.
 */
public final class MemoryCheckExtension implements AfterEachCallback {
    private final boolean isOn = CheckedMemory.isOn();

    @Override
    public void afterEach(ExtensionContext context) {
        if (isOn) {
            List<CheckedMemory.InvalidAccess> found = CheckedMemory.found();
            CheckedMemory.forget();
            Assertions.assertEquals(List.of(), found);
        }
    }
}
