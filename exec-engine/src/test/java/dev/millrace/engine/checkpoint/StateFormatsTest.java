package dev.millrace.engine.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.operator.StateFormat;
import dev.millrace.testing.harness.StateFixture;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class StateFormatsTest {
    @Test
    void aFixtureIsKeptOfEachState() {
        Set<StateFormat> without = new HashSet<>(StateFormats.all());
        without.removeAll(StateFixture.formats());
        assertEquals(Set.of(), without);
    }

    @Test
    void onlyWhatThisReleaseWritesIsRead() {
        assertEquals(Optional.empty(), StateFormats.whyUnreadable(StateFormats.JOIN));
        assertEquals(
                Optional.of("its state \"join\" has format 7, this release reads " + StateFormats.JOIN.version()),
                StateFormats.whyUnreadable(new StateFormat("join", 7)));
        assertEquals(
                Optional.of("this release knows no state \"knots\""),
                StateFormats.whyUnreadable(new StateFormat("knots", 1)));
    }
}
