package dev.millrace.benchmarks.nexmark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class NexmarkOracleTest {
    @ParameterizedTest
    @EnumSource
    void theAnswerIsDuckDbsWithOneWorker(NexmarkQuery query) {
        assertEquals("", OracleCheck.differences(query, 1));
    }

    @ParameterizedTest
    @EnumSource
    void theAnswerIsDuckDbsWithTwoWorkers(NexmarkQuery query) {
        assertEquals("", OracleCheck.differences(query, 2));
    }
}
