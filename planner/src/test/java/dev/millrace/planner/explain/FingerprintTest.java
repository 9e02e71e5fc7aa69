package dev.millrace.planner.explain;

import static dev.millrace.planner.tree.Fixture.and;
import static dev.millrace.planner.tree.Fixture.bid;
import static dev.millrace.planner.tree.Fixture.column;
import static dev.millrace.planner.tree.Fixture.count;
import static dev.millrace.planner.tree.Fixture.filter;
import static dev.millrace.planner.tree.Fixture.group;
import static dev.millrace.planner.tree.Fixture.number;
import static dev.millrace.planner.tree.Fixture.plain;
import static dev.millrace.planner.tree.Fixture.test;
import static dev.millrace.planner.tree.Fixture.text;
import static dev.millrace.planner.tree.Fixture.tumble;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Nodes;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What plans of one fingerprint may differ in: literals and names, nothing else. */
class FingerprintTest {
    private static PlanNode bids(long auction, String channel) {
        PlanNode plain = plain();
        return filter(
                plain,
                and(
                        test("eq", column(plain, "auction"), number(auction)),
                        test("eq", column(plain, "channel"), text(channel))));
    }

    @Test
    void literalsAreLeftOutAndListed() {
        Fingerprint one = Fingerprint.of(bids(1, "web"));
        Fingerprint other = Fingerprint.of(bids(2, "app"));
        assertEquals(one.hash(), other.hash());
        assertEquals(List.of(number(1), text("web")), one.literals());
        assertEquals(List.of(number(2), text("app")), other.literals());
    }

    @Test
    void namesOfColumnsDoNotMatter() {
        PlanNode plan = bids(1, "web");
        PlanNode named = Nodes.named(plan, List.of("a", "b", "c", "d", "e"));
        assertEquals(Fingerprint.of(plan).hash(), Fingerprint.of(named).hash());
    }

    @Test
    void everythingElseMatters() {
        String hash = Fingerprint.of(bids(1, "web")).hash();
        assertNotEquals(
                hash,
                Fingerprint.of(filter(plain(), test("eq", column(plain(), "auction"), number(1))))
                        .hash());
        assertNotEquals(
                Fingerprint.of(tumble(bid(), 10)).hash(),
                Fingerprint.of(tumble(bid(), 20)).hash());
        assertNotEquals(
                Fingerprint.of(group(plain(), List.of("auction"), count())).hash(),
                Fingerprint.of(group(plain(), List.of("bidder"), count())).hash());
    }

    @Test
    void theHashIsTheSameInEveryRun() {
        assertEquals(
                "e224ad3b79da3f2073729e1812029178",
                Fingerprint.of(group(plain(), List.of("auction"), count())).hash());
    }
}
