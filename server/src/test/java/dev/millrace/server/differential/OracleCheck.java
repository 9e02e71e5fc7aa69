package dev.millrace.server.differential;

import dev.millrace.server.session.Session;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.rows.ZSet;

/** Compares one answer with the oracle's, for suites of their own. */
public final class OracleCheck {
    private OracleCheck() {}

    /** Fails with both queries and what differs, unless both answer with the same rows in any order. */
    public static void requireEqual(Session session, String ours, Oracle oracle, String theirs) {
        Answers answers = Answers.of(session, ours);
        String differences = oracle.differences(theirs, answers.schema(), ZSet.of(answers.rows()));
        if (!differences.isEmpty()) {
            throw new AssertionError(differences + ours + "\noracle: " + theirs);
        }
    }
}
