package dev.millrace.planner.order;

/** In which order members of a graph are joined; each member once. */
sealed interface JoinTree {
    /** Bits of the members. */
    long members();

    /** One member alone. */
    record Leaf(int member) implements JoinTree {
        @Override
        public long members() {
            return 1L << member;
        }
    }

    /** Two parts joined; a reducer is alone on the right. */
    record Pair(JoinTree left, JoinTree right, long members) implements JoinTree {
        Pair(JoinTree left, JoinTree right) {
            this(left, right, left.members() | right.members());
        }
    }
}
