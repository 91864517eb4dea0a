use super::{VTK, VTK_51, refused, truncated};

#[test]
fn points() {
    let refused = |piece, by, place, fragment| refused(VTK, piece, by, &format!("{place}: POINTS"), fragment);
    refused("POINTS 6", "POINTS six", "13:8", "expected the number of points, found `six`");
    refused("6 double", "6", "14:1", "expected the type of the coordinates, such as `double`, found `0`");
    refused("POINTS 6", "POINTS 5", "16:10", "expected another section after the values announced, found `9`");
    refused("POINTS 6", "POINTS 7", "17:1", "expected a finite x of point 6 (7 announced), found `METADATA`");
    refused("POINTS 6", "POINTS 99999999999999", "17:1", "x of point 6 (99999999999999 announced), found `METADATA`");
    refused("5 1e-3 0 0", "5 1e-3 nan 0", "15:8", "expected a finite y of point 3 (6 announced), found `nan`");
    truncated(VTK, "POINTS", "12:5: POINTS", "the grid ends without this section");
    truncated(VTK, "5 1e-3", "14:21: POINTS", "the file ends, expected a finite z of point 2 (6 announced)");
}

#[test]
fn cells() {
    let refused = |piece, by, place, fragment| refused(VTK, piece, by, &format!("{place}: CELLS"), fragment);
    refused("CELLS 2 9", "CELLS 2 8", "21:9", "found 9 values in the cells, expected the 8 announced here");
    refused("CELLS 2 9", "CELLS 3 9", "24:1", "the number of points of cell 2 (3 announced), found `CELL_TYPES`");
    refused("CELLS 2 9", "CELLS 1 4", "22:9", "expected another section after the values announced, found `4`");
    refused("CELLS 2 9\n3", "CELLS 2 9\n99999999999", "24:1", "expected a point of cell 0, found `CELL_TYPES`");
    refused("3 4 0", "3 4 6", "23:5", "cell 1 names point 6, but `POINTS` has 6, numbered from 0");
    refused("3 4 0", "3 4 -1", "23:5", "expected a point of cell 1, found `-1`");
    refused("5\n10", "10 10", "22:1", "cell 0 is a tetrahedron of 3 points, expected 4");
    refused("5\n10", "5 9", "21:1", "no tetrahedra with 4 nodes, expected at least one (2 cells of other types");
    refused("CELL_TYPES", "POINTS", "24:1", "expected another section after the values announced, found `POINTS`");
    truncated(VTK, "CELLS", "21:1: CELLS", "the grid ends without this section");
    truncated(VTK, "3 4 0", "22:12: CELLS", "the file ends, expected a point of cell 1");
}

#[test]
fn cell_types() {
    let refused = |piece, by, place, fragment| refused(VTK, piece, by, &format!("{place}: CELL_TYPES"), fragment);
    refused("_TYPES 2\n5", "_TYPES 1", "24:12", "found 1 types, expected one for each of 2 cells");
    refused("_TYPES 2", "_TYPES 3", "27:1", "expected type 2 (3 announced), found `POINT_DATA`");
    refused("5\n10", "5 12", "25:3", "cell 1 is a solid other than a tetrahedron (type 12), expected type 10");
    refused("5\n10", "5 24", "25:3", "(type 24), expected 4 nodes (type 10): mesh again with element order 1");
    truncated(VTK, "CELL_TYPES", "23:6: CELL_TYPES", "the grid ends without this section");
    truncated(VTK, "10\nPOINT", "25:2: CELL_TYPES", "the file ends, expected type 1 (2 announced)");
}

#[test]
fn offsets_of_5_1() {
    let refused = |piece, by, place, fragment| refused(VTK_51, piece, by, &format!("{place}: CELLS"), fragment);
    refused("0 3 7", "1 3 7", "9:1", "found offset 1, expected them to rise from 0 to 7");
    refused("0 3 7", "0 8 7", "9:3", "found offset 8, expected them to rise from 0 to 7");
    refused("0 3 7", "0 3 2", "9:5", "found offset 2, expected them to rise from 0 to 7");
    refused("0 3 7", "0 3 6", "9:5", "found offset 6, expected them to rise from 0 to 7");
    refused("0 3 7", "0 3", "10:1", "expected offset 2 (3 announced), found `CONNECTIVITY`");
    refused("CONNECTIVITY", "connected", "10:1", "expected `CONNECTIVITY`, found `connected`");
    refused("CELLS 3 7", "CELLS 3 8", "13:1", "expected point number 7 (8 announced), found `CELL_TYPES`");
    refused("1 3 4 0", "1 3 4 9", "12:7", "cell 1 names point 9, but `POINTS` has 6, numbered from 0");
    truncated(VTK_51, "4 0", "12:4: CELLS", "the file ends, expected point number 5 (7 announced)");
}
