package dev.millrace.scheduler;

/** Places in an array, and which of them is next. */
sealed interface Order permits RankHeap, DrawnOrder {
    void add(Place place);

    /** Whose turn it is; one at least is there. It stays. */
    Place next(long nowNanos);

    void remove(Place place);

    int size();
}
