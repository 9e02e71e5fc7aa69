package dev.millrace.engine.group;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Who publishes may be epochs behind the operator. */
class MemberChangesTest {
    private static final MillraceException WHY = MillraceException.user(SqlState.DIVISION_BY_ZERO, "division by zero");

    @Test
    void aFailureIsToldWithItsEpochAlsoIfItIsKnownWhenAnEarlierOneIsPublished() {
        List<String> stopped = new ArrayList<>();
        GroupMembers members = new GroupMembers(true);
        Member member = members.add("a", List.of(), 0, Optional.empty());
        try (MemberChanges changes = new MemberChanges(
                members,
                Schema.of(new Field("n", DataType.BIGINT, false)),
                () -> {
                    throw new AssertionError("nobody listens");
                },
                (who, why) -> stopped.add(who.name()))) {
            member.failed(WHY, 1, false);
            member.epochEnd(3);
            members.failed(member);
            changes.publish(1, 1, List.of());
            changes.publish(2, 2, List.of());
            assertEquals(List.of(), stopped);
            changes.publish(3, 3, List.of());
            assertEquals(List.of("a"), stopped);
            changes.publish(4, 4, List.of());
            assertEquals(List.of("a"), stopped);
        }
    }
}
