package dev.millrace.connectors.datagen;

import dev.millrace.connectors.random.Draws;

/**
 * Cars on expressways of a hundred one-mile segments, after the description of Linear Road (Arasu et al., VLDB 2004): each car
 * reports every 30 s where it is. Report {@code n} depends on {@code n} alone.
 *
 * <p>The reports of any 30 s come from as many places as there are reports in them; a place has one car after another,
 * each for 40 reports (20 minutes). A car goes at one speed from where it enters: most enter in a few segments where all are
 * slow, which is what makes tolls. Places go in pairs, and now and then the two cars of a pair are side by side all the way and
 * stop at once for some minutes: an accident.
 *
 * @param reportsPerSecond even
 * @param expressways at least 1
 */
record Traffic(Draws draws, long reportsPerSecond, int expressways) {
    static final int FEET_PER_SEGMENT = 5280;
    static final int SEGMENTS = 100;

    private static final int SECONDS_PER_REPORT = 30;
    private static final int REPORTS_PER_CAR = 40;
    private static final int FEET_PER_REPORT_AND_MPH = 44;
    private static final int JAM_START = 48;
    private static final int JAM_SEGMENTS = 5;
    /** One pair in so many has an accident. */
    private static final int PAIRS_PER_ACCIDENT = 100;

    long second(long report) {
        return report / reportsPerSecond;
    }

    private long places() {
        return SECONDS_PER_REPORT * reportsPerSecond;
    }

    /** How many reports of its place came before this one, counted so that not all cars of the beginning leave at once. */
    private long tick(long report) {
        long place = place(report);
        return report / places() + Math.floorMod(draw(6, place / 2), REPORTS_PER_CAR);
    }

    private long place(long report) {
        return report % places();
    }

    private long generation(long report) {
        return tick(report) / REPORTS_PER_CAR;
    }

    long vehicle(long report) {
        return generation(report) * places() + place(report);
    }

    /** How many reports of this car came before this one, 0 to 39. */
    int number(long report) {
        return (int) (tick(report) % REPORTS_PER_CAR);
    }

    /** The car that this one goes like: the first of its pair if both have an accident, or else itself. */
    private long leader(long report) {
        long vehicle = vehicle(report);
        return isInAccident(report) ? vehicle - vehicle % 2 : vehicle;
    }

    private boolean isInAccident(long report) {
        return Draws.below(draw(5, vehicle(report) / 2), PAIRS_PER_ACCIDENT) == 0;
    }

    private long draw(int column, long of) {
        return Draws.draw(draws.salt(column), of);
    }

    private long below(int column, long of, long bound) {
        return Draws.below(draw(column, of), bound);
    }

    int expressway(long report) {
        return (int) below(0, leader(report), expressways);
    }

    /** 0 east, towards higher positions; 1 west. */
    int direction(long report) {
        return (int) below(1, leader(report), 2);
    }

    private boolean isInJam(long leader) {
        return below(2, leader, 10) < 6;
    }

    private int cruisingMph(long leader) {
        return isInJam(leader) ? 15 + (int) below(3, leader, 20) : 45 + (int) below(3, leader, 30);
    }

    private boolean isStopped(long report) {
        int number = number(report);
        int stop = stop(report);
        return isInAccident(report) && number >= stop && number < stop + stoppedReports(report);
    }

    /** The report from which on a car in an accident stands. */
    private int stop(long report) {
        return 4 + (int) below(7, leader(report), 12);
    }

    private int stoppedReports(long report) {
        return 8 + (int) below(8, leader(report), 12);
    }

    int speedMph(long report) {
        return isStopped(report) ? 0 : cruisingMph(leader(report));
    }

    /** In feet from the west end. */
    int position(long report) {
        long leader = leader(report);
        int mph = cruisingMph(leader);
        int moved = number(report);
        if (isInAccident(report) && moved > stop(report)) {
            moved = Math.max(stop(report), moved - stoppedReports(report));
        }
        int whole = FEET_PER_SEGMENT * SEGMENTS;
        int furthest = whole - REPORTS_PER_CAR * FEET_PER_REPORT_AND_MPH * mph;
        int start = isInJam(leader)
                ? FEET_PER_SEGMENT * JAM_START + (int) below(4, leader, (long) FEET_PER_SEGMENT * JAM_SEGMENTS)
                : (int) below(4, leader, furthest);
        int east = start + moved * FEET_PER_REPORT_AND_MPH * mph;
        return direction(report) == 0 ? east : whole - 1 - east;
    }

    int segment(long report) {
        return position(report) / FEET_PER_SEGMENT;
    }

    /** 0 to enter, 4 to leave, else the lane the car keeps to. */
    int lane(long report) {
        int number = number(report);
        return number == 0 ? 0 : number == REPORTS_PER_CAR - 1 ? 4 : 1 + (int) below(9, leader(report), 3);
    }
}
