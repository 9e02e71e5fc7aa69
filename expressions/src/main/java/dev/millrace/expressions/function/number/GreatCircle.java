package dev.millrace.expressions.function.number;

/** Distances on a sphere of the earth's mean radius; of what is no place on it NaN. */
public final class GreatCircle {
    /** R1 of the IUGG in metres, (2a + b) / 3 of WGS 84 (Moritz, Geodetic Reference System 1980, J. Geodesy 74, 2000). */
    private static final double RADIUS = 6_371_008.7714;

    private GreatCircle() {}

    /**
     * Metres between two places, by the haversine (Sinnott, Virtues of the Haversine, Sky and Telescope 68, 1984), which is exact for
     * near ones, too. A sphere is off by 0.6 % of the distance on the ellipsoid at most.
     *
     * @param latitude in degrees north, -90 to 90
     * @param longitude in degrees east, -360 to 360
     */
    public static double haversine(double latitude, double longitude, double otherLatitude, double otherLongitude) {
        if (!isPlace(latitude, longitude) || !isPlace(otherLatitude, otherLongitude)) {
            return Double.NaN;
        }
        double north = Math.sin(Math.toRadians(otherLatitude - latitude) / 2);
        double east = Math.sin(Math.toRadians(Math.IEEEremainder(otherLongitude - longitude, 360)) / 2);
        double half = north * north
                + Math.cos(Math.toRadians(latitude)) * Math.cos(Math.toRadians(otherLatitude)) * east * east;
        return 2 * RADIUS * Math.asin(Math.min(1, Math.sqrt(half)));
    }

    private static boolean isPlace(double latitude, double longitude) {
        return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 360;
    }
}
