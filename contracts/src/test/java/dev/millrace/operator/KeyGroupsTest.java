package dev.millrace.operator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class KeyGroupsTest {
    @Test
    void everyGroupHasOneOwnerWhateverTheParallelism() {
        for (int parallelism = 1; parallelism <= KeyGroups.COUNT; parallelism++) {
            for (int group = 0; group < KeyGroups.COUNT; group++) {
                int owner = KeyGroups.owner(group, parallelism);
                assertTrue(KeyGroups.ownedBy(owner, parallelism).contains(group), group + " of " + parallelism);
                assertTrue(owner >= 0 && owner < parallelism);
            }
        }
    }

    @Test
    void rangesFollowEachOtherWithoutGaps() {
        for (int parallelism = 1; parallelism <= KeyGroups.COUNT; parallelism++) {
            int next = 0;
            for (int index = 0; index < parallelism; index++) {
                KeyGroups owned = KeyGroups.ownedBy(index, parallelism);
                assertEquals(next, owned.first());
                next = owned.last() + 1;
            }
            assertEquals(KeyGroups.COUNT, next);
        }
    }
}
