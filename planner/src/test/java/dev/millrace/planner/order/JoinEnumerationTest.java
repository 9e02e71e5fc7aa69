package dev.millrace.planner.order;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.planner.order.JoinTree.Leaf;
import dev.millrace.planner.order.JoinTree.Pair;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class JoinEnumerationTest {
    private static Graphs random(Random random, int members) {
        Graphs graphs = new Graphs();
        for (int i = 0; i < members; i++) {
            long rows = 1 + random.nextInt(100_000);
            graphs.factor(rows, 1 + random.nextInt((int) rows));
        }
        for (int i = 1; i < members; i++) {
            graphs.equal(i, random.nextInt(2), random.nextInt(i), random.nextInt(Graphs.WIDTH));
        }
        return graphs.done();
    }

    /** Any tree over all members. */
    private static JoinTree tree(Random random, List<JoinTree> leaves) {
        List<JoinTree> parts = new ArrayList<>(leaves);
        while (parts.size() > 1) {
            Collections.shuffle(parts, random);
            parts.add(new Pair(parts.remove(0), parts.remove(0)));
        }
        return parts.get(0);
    }

    private static void assertWhole(JoinTree tree, int members) {
        assertEquals((1L << members) - 1, tree.members());
        if (tree instanceof Pair pair) {
            assertEquals(0, pair.left().members() & pair.right().members(), "a member is joined twice");
            assertWhole(
                    pair.left(),
                    Long.bitCount(pair.left().members()),
                    pair.left().members());
            assertWhole(
                    pair.right(),
                    Long.bitCount(pair.right().members()),
                    pair.right().members());
        }
    }

    private static void assertWhole(JoinTree tree, int count, long members) {
        assertEquals(members, tree.members());
        if (tree instanceof Pair pair) {
            assertEquals(
                    count,
                    Long.bitCount(pair.left().members())
                            + Long.bitCount(pair.right().members()));
        }
    }

    @Test
    void noOtherOrderThatFollowsConditionsIsCheaper() {
        for (int seed = 0; seed < 60; seed++) {
            Random random = new Random(seed);
            Graphs graphs = random(random, 2 + random.nextInt(5));
            JoinEnumeration enumeration = graphs.enumeration();
            JoinTree best = enumeration.best();
            assertWhole(best, graphs.leaves().size());
            for (int i = 0; i < 100; i++) {
                JoinTree other = tree(random, graphs.leaves());
                boolean worse = enumeration.cost(best) <= enumeration.cost(other) * 1.000001;
                assertTrue(worse || enumeration.crosses(other), "seed " + seed + ": " + best + ", not " + other);
            }
        }
    }

    @Test
    void manyMembersAreJoinedGreedilyEachOnce() {
        for (int seed = 0; seed < 5; seed++) {
            Graphs graphs = random(new Random(seed), 25);
            JoinTree best = graphs.enumeration().best();
            assertWhole(best, 25);
            assertFalse(graphs.enumeration().crosses(best));
        }
    }

    @Test
    void guessesBeyondAllNumbersStillHaveAnOrder() {
        for (int members : new int[] {8, 40}) {
            Graphs graphs = new Graphs();
            for (int i = 0; i < members; i++) {
                graphs.factor(Long.MAX_VALUE, 1);
            }
            for (int i = 1; i < members; i++) {
                graphs.equal(i, 0, i - 1, 1);
            }
            JoinEnumeration enumeration = graphs.done().enumeration();
            JoinTree best = enumeration.best();
            assertWhole(best, members);
            assertTrue(Double.isFinite(enumeration.cost(best)), "cost " + enumeration.cost(best));
        }
    }

    @Test
    void aTinyFilteredRelationIsMetFirst() {
        // a chain: large, middle, tiny
        Graphs graphs =
                new Graphs().factor(1_000_000, 10_000).factor(10_000, 10_000).factor(1, 1);
        graphs.equal(0, 0, 1, 0).equal(1, 1, 2, 0).done();
        Pair best = (Pair) graphs.enumeration().best();
        assertTrue(best.left().members() == 0b110 || best.right().members() == 0b110, best.toString());
    }

    @Test
    void aReducerIsAloneOnTheRightOfWhatItNeeds() {
        Graphs graphs = new Graphs().factor(100_000, 1000).factor(100_000, 1000).reducer(10, 10, 0, 1);
        graphs.equal(0, 0, 1, 0).done();
        Pair best = (Pair) graphs.enumeration().best();
        Pair reduced = (Pair) (best.left() instanceof Pair ? best.left() : best.right());
        assertEquals(new Leaf(2), reduced.right(), "it makes the left side fewer before that is joined");
        assertEquals(0b001, reduced.left().members());
    }

    @Test
    void whatSharesNoConditionIsJoinedLast() {
        Graphs graphs = new Graphs().factor(1000, 1000).factor(2000, 1000).factor(1000, 1000);
        graphs.equal(0, 0, 2, 0).done();
        JoinTree best = graphs.enumeration().best();
        assertTrue(
                ((Pair) best).left().members() == 0b101 || ((Pair) best).right().members() == 0b101, best.toString());
        assertTrue(graphs.enumeration().crosses(best));
    }

    @Test
    void partsThatStayAreJoinedAsTheyAre() {
        Graphs graphs =
                new Graphs().factor(1_000_000, 1000).factor(1_000_000, 1000).factor(5, 5);
        graphs.equal(0, 0, 1, 0).equal(1, 1, 2, 0).done();
        Pair stays = new Pair(new Leaf(0), new Leaf(1));
        JoinEnumeration enumeration =
                new JoinEnumeration(graphs.graph, graphs.sizes(), List.of(stays, new Leaf(2)), true);
        Pair best = (Pair) enumeration.best();
        assertTrue(best.left() == stays || best.right() == stays, best.toString());
        assertFalse(((Pair) graphs.enumeration().best()).left().members() == stays.members());
    }

    @Test
    void whatIsKeptCostsOnceMore() {
        Graphs graphs = new Graphs().factor(100, 10).factor(100, 10);
        graphs.equal(0, 0, 1, 0).done();
        JoinTree tree = new Pair(new Leaf(0), new Leaf(1));
        double finite = graphs.enumeration().cost(tree);
        double standing = new JoinEnumeration(graphs.graph, graphs.sizes(), graphs.leaves(), true).cost(tree);
        assertEquals(200, standing - finite, 1e-6);
    }
}
