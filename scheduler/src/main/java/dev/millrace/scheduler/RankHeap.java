package dev.millrace.scheduler;

import java.util.Arrays;

/** The least rank of the greatest priority is next: a binary heap whose places know where they are in it, so that any can leave or get another rank. */
final class RankHeap implements Order {
    private static final int FIRST_CAPACITY = 16;

    private Place[] heap = new Place[FIRST_CAPACITY];
    private int size;

    @Override
    public void add(Place place) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        size++;
        up(place, size - 1);
    }

    @Override
    public Place next(long nowNanos) {
        return heap[0];
    }

    @Override
    @SuppressWarnings("NullAway") // what is left behind the end is to be forgotten
    public void remove(Place place) {
        int at = place.index;
        Place last = heap[--size];
        heap[size] = null;
        place.index = Place.NOWHERE;
        if (last != place) {
            last.index = at;
            moved(last);
        }
    }

    /** A place in it has another rank. */
    void moved(Place place) {
        up(place, place.index);
        down(place, place.index);
    }

    @Override
    public int size() {
        return size;
    }

    private void up(Place place, int from) {
        int at = from;
        while (at > 0 && isBefore(place, heap[(at - 1) / 2])) {
            put(heap[(at - 1) / 2], at);
            at = (at - 1) / 2;
        }
        put(place, at);
    }

    private void down(Place place, int from) {
        int at = from;
        for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && isBefore(heap[child + 1], heap[child])) {
                child++;
            }
            if (!isBefore(heap[child], place)) {
                break;
            }
            put(heap[child], at);
            at = child;
        }
        put(place, at);
    }

    private void put(Place place, int at) {
        heap[at] = place;
        place.index = at;
    }

    private static boolean isBefore(Place a, Place b) {
        if (a.priority != b.priority) {
            return a.priority > b.priority;
        }
        return a.rank != b.rank ? a.rank < b.rank : a.number < b.number;
    }
}
