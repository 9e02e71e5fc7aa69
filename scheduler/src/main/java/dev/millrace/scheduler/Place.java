package dev.millrace.scheduler;

/**
 * Where a task stands among those that are runnable: in the order to run, in that of arrival, and in that in which ranks were given. Used
 * by {@link ReadyTasks} and what it is made of only, so by one thread at a time.
 */
final class Place {
    static final int NOWHERE = -1;

    final ScheduledTask task;
    final PlaceList.Link arrival = new PlaceList.Link(this);
    final PlaceList.Link ranking = new PlaceList.Link(this);
    int index = NOWHERE; // in the array of the order
    long rank;
    long rankedNanos;
    int priority; // when it arrived
    boolean inBackground;
    long number; // of its arrival: of equal ranks the first comes first

    Place(ScheduledTask task) {
        this.task = task;
    }
}
