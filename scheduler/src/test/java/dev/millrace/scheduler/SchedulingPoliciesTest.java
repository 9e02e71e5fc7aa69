package dev.millrace.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whom each policy prefers, and why. */
final class SchedulingPoliciesTest {
    private static final long SECOND = 1_000_000_000;
    private static final long NOW = 100 * SECOND;

    /** What a test says of a task. */
    private record Said(
            String owner,
            long readySinceNanos,
            long queuedRows,
            double rowNanos,
            double selectivity,
            Optional<Said> downstream,
            Optional<WindowProgress> progress)
            implements TaskStatistics {
        static Said task(String owner) {
            return new Said(owner, NOW, 0, 1_000, 1, Optional.empty(), Optional.empty());
        }

        Said queued(long rows) {
            return new Said(owner, readySinceNanos, rows, rowNanos, selectivity, downstream, progress);
        }

        Said costs(double nanos, double rowsOut) {
            return new Said(owner, readySinceNanos, queuedRows, nanos, rowsOut, downstream, progress);
        }

        Said before(Said next) {
            return new Said(owner, readySinceNanos, queuedRows, rowNanos, selectivity, Optional.of(next), progress);
        }

        Said since(long nanos) {
            return new Said(owner, nanos, queuedRows, rowNanos, selectivity, downstream, progress);
        }

        /** Windows of ten seconds whose last ended then, with a watermark so much later, as each before. */
        Said window(long lastEndNanos, long delayNanos) {
            SweepingWatermarks input = new SweepingWatermarks(10 * SECOND);
            for (long end = lastEndNanos - 50 * SECOND; end <= lastEndNanos; end += 10 * SECOND) {
                input.swept(end, end + delayNanos);
                input.through();
            }
            return new Said(
                    owner,
                    readySinceNanos,
                    queuedRows,
                    rowNanos,
                    selectivity,
                    downstream,
                    Optional.of(new WindowProgress(List.of(input))));
        }

        @Override
        public long id() {
            return 0;
        }

        @Override
        public int priority() {
            return 0;
        }

        @Override
        public long lastRunNanos() {
            return 0;
        }

        @Override
        public long cpuNanos() {
            return 0;
        }

        @Override
        public long runs() {
            return 0;
        }

        @Override
        public long queuedBytes() {
            return 0;
        }
    }

    private static List<String> order(String policy, Said... tasks) {
        return order(policy, 0, tasks);
    }

    private static List<String> order(String policy, double memoryShare, Said... tasks) {
        RankingPolicy ranking = (RankingPolicy) SchedulingPolicies.named(policy);
        return Stream.of(tasks)
                .sorted(Comparator.comparingLong(task -> ranking.rank(NOW, memoryShare, task)))
                .map(Said::owner)
                .toList();
    }

    @Test
    void klinkPrefersTheLeastSlackWhichIsTimeLeftLessWork() {
        Said soon = Said.task("soon").window(NOW - 9 * SECOND, 0); // in 1 s
        Said later = Said.task("later").window(NOW - 5 * SECOND, 0); // in 5 s
        Said loaded =
                Said.task("loaded").window(NOW - 4 * SECOND, 0).queued(5_500_000); // in 6 s, 5.5 of which are work
        Said late = Said.task("late").window(NOW - 9 * SECOND, 8 * SECOND); // its watermark in 9 s
        assertEquals(List.of("loaded", "soon", "later", "late"), order("klink", late, later, soon, loaded));
    }

    @Test
    void ofThoseThatAreDueTheShortestMayComeFirst() {
        Said behind =
                Said.task("behind").window(NOW - 15 * SECOND, 0).queued(2_000_000); // late by 5 s, and 2 s of work
        Said nearly = Said.task("nearly").window(NOW - 11 * SECOND, 0).queued(100_000);
        Said soon = Said.task("soon").window(NOW - 9 * SECOND, 0).queued(10);
        assertEquals(List.of("behind", "nearly", "soon"), order("klink", soon, behind, nearly));
        assertEquals(List.of("nearly", "behind", "soon"), order("klink_shortest", soon, behind, nearly));
    }

    @Test
    void klinkCountsTheWorkOfAllThatIsBehindATask() {
        Said end = Said.task("end").costs(4_000, 1).queued(1_000_000); // 4 s
        Said loaded = Said.task("loaded")
                .window(NOW - 5 * SECOND, 0)
                .costs(1_000, .5)
                .queued(100_000)
                .before(end);
        Said soon = Said.task("soon").window(NOW - 9 * SECOND, 0).queued(100);
        assertEquals(List.of("loaded", "soon"), order("klink", soon, loaded)); // 5 - 4.3 s against 1 s
    }

    @Test
    void withoutWindowsKlinksAnswerIsDueWhenItsRowsCome() {
        Said plain = Said.task("plain").since(NOW - SECOND / 2);
        Said older = Said.task("older").since(NOW - SECOND);
        Said due = Said.task("due").window(NOW - 12 * SECOND, 0);
        Said window = Said.task("window").window(NOW - 9 * SECOND, 0);
        assertEquals(List.of("due", "older", "plain", "window"), order("klink", window, plain, older, due));
    }

    @Test
    void whileMemoryIsShortKlinkPrefersWhoDoesAwayWithMostRows() {
        Said soon = Said.task("soon").window(NOW - 9 * SECOND, 0).queued(1_000).costs(1_000, 1);
        Said filter =
                Said.task("filter").window(NOW - 5 * SECOND, 0).queued(100_000).costs(1_000, .1);
        Said slower =
                Said.task("slower").window(NOW - 4 * SECOND, 0).queued(100_000).costs(1_000, .11); // as much, about
        Said few = Said.task("few").window(NOW - 9 * SECOND, 0).queued(10).costs(1_000, 0);
        assertEquals(List.of("filter", "slower", "few", "soon"), order("klink", .9, soon, slower, few, filter));
        assertEquals("soon", order("klink", .5, filter, soon).get(0));
    }

    @Test
    void edgeWisePrefersTheLongestQueueAndSaysHowMuchOfItIsTaken() {
        Said longest = Said.task("long").queued(1_000);
        assertEquals(
                List.of("long", "short"), order("edgewise", Said.task("short").queued(10), longest));
        assertEquals(Long.MAX_VALUE, ((RankingPolicy) SchedulingPolicies.named("edgewise")).mostRows(longest));
        assertEquals(500, ((RankingPolicy) SchedulingPolicies.named("edgewise_half")).mostRows(longest));
        assertEquals(50, ((RankingPolicy) SchedulingPolicies.named("edgewise_50")).mostRows(longest));
    }

    @Test
    void highestRatePrefersMostAnswersForTheTimeOfTheWholePath() {
        Said slowEnd = Said.task("end").costs(100_000, 1);
        Said path = Said.task("path").costs(10, 1).before(slowEnd);
        Said alone = Said.task("alone").costs(1_000, .5);
        assertEquals(List.of("alone", "path"), order("highest_rate", path, alone));
    }

    @Test
    void minLatencyPrefersTheEndOfAQueryAndMinMemoryTheSteepestWayDown() {
        Said end = Said.task("end").costs(1_000, 1);
        Said start = Said.task("start").costs(1_000, .9).before(end.costs(10, 0));
        assertEquals(List.of("end", "start"), order("min_latency", start, end));
        Said filter = Said.task("filter").costs(1_000, .5);
        assertEquals(List.of("start", "filter", "end"), order("min_memory", end, filter, start)); // 1/1009, .5/1000, 0
    }

    @Test
    void streamBoxPrefersTheFirstWindowToEndWheneverItsWatermarkComes() {
        Said first = Said.task("first").window(NOW - 9 * SECOND, 8 * SECOND);
        Said second = Said.task("second").window(NOW - 8 * SECOND, 0);
        assertEquals(List.of("first", "second"), order("streambox", second, first));
    }

    @Test
    void ranksBeforeAnythingIsKnownAreThoseOfAWait() {
        for (String name : SchedulingPolicies.names()) {
            if (SchedulingPolicies.named(name) instanceof RankingPolicy ranking) {
                long rank = ranking.rank(NOW, 0, Said.task("new").costs(0, 1));
                assertTrue(rank != Long.MAX_VALUE && rank != Long.MIN_VALUE, name + " ranks " + rank);
            }
        }
    }
}
