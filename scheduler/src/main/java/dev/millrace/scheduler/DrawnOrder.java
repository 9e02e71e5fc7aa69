package dev.millrace.scheduler;

import java.util.Arrays;

/** Any place may be next, as a lottery says. All in constant time. */
final class DrawnOrder implements Order {
    private static final int FIRST_CAPACITY = 16;

    private final LotteryPolicy lottery;
    private Place[] places = new Place[FIRST_CAPACITY];
    private int size;

    DrawnOrder(LotteryPolicy lottery) {
        this.lottery = lottery;
    }

    @Override
    public void add(Place place) {
        if (size == places.length) {
            places = Arrays.copyOf(places, 2 * size);
        }
        place.index = size;
        places[size++] = place;
    }

    @Override
    public Place next(long nowNanos) {
        return places[lottery.draw(nowNanos, size)];
    }

    @Override
    @SuppressWarnings("NullAway") // what is left behind the end is to be forgotten
    public void remove(Place place) {
        Place last = places[--size];
        places[place.index] = last;
        last.index = place.index;
        places[size] = null;
        place.index = Place.NOWHERE;
    }

    @Override
    public int size() {
        return size;
    }
}
