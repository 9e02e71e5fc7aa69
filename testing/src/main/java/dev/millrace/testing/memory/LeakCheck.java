package dev.millrace.testing.memory;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives each test an allocator of its own and fails the test that leaves a byte in it:
 *
 * <pre>
 *   &#64;RegisterExtension
 *   final LeakCheck memory = new LeakCheck();
 * </pre>
 *
 * The memory is poisoned ({@link PoisonedAllocation}). Where a leak came from shows with
 * {@code -Darrow.memory.debug.allocator=true}.
 */
public final class LeakCheck implements BeforeEachCallback, AfterEachCallback {
    private static final long LIMIT_BYTES = 1L << 30;

    @SuppressWarnings("NullAway.Init") // made before each test
    private RootAllocator root;

    /** The running test's allocator. */
    public BufferAllocator allocator() {
        return root;
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        root = PoisonedAllocation.newRoot(LIMIT_BYTES);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        long leaked = root.getAllocatedMemory();
        String details = leaked == 0 ? "" : root.toVerboseString();
        try {
            root.close();
        } catch (IllegalStateException e) {
            // Arrow's own message for a leak; ours below says it shorter
        }
        boolean failedAnyway = context.getExecutionException().isPresent();
        if (leaked != 0 && !failedAnyway) {
            throw new AssertionError(leaked + " bytes leaked: " + details);
        }
    }
}
