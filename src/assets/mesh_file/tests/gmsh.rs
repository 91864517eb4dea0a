use super::{GMSH_22, GMSH_41, refused, truncated};

#[test]
fn sections_come_in_pairs_after_the_format() {
    let refused = |piece, by, place, fragment| refused(GMSH_22, piece, by, place, fragment);
    refused("$MeshFormat\n2", "$Nodes\n$MeshFormat\n2", "2:1: $Nodes", "expected `$MeshFormat` to come first");
    refused("$Comments", "$EndComments", "5:1: $EndComments", "found an end, expected a section to begin");
    truncated(GMSH_22, "$Elements", "20:10: $Elements", "the file ends without this section");
    truncated(GMSH_22, "$EndNodeData", "29:4: $NodeData", "the file ends, expected `$EndNodeData`");
}

#[test]
fn nodes_of_2_2() {
    let refused = |piece, by, place, fragment| refused(GMSH_22, piece, by, &format!("{place}: $Nodes"), fragment);
    refused("\n6\n", "\nsix\n", "13:1", "expected the number of nodes, found `six`");
    refused("\n6\n", "\n-6\n", "13:1", "expected the number of nodes, found `-6`");
    refused("\n6\n", "\n5\n", "19:1", "expected `$EndNodes`, found `8`");
    refused("\n6\n", "\n7\n", "20:1", "expected the tag of node 7 of 7, found `$EndNodes`");
    refused("\n6\n", "\n18446744073709551615\n", "20:1", "expected the tag of node 7 of 18446744073709551615, found");
    refused("\n6\n", "\n18446744073709551616\n", "13:1", "expected the number of nodes, found");
    refused("20 1e-3 0", "20 1e-3 O", "17:9", "expected a finite y of node 20, found `O`");
    refused("99 5 5 5", "99 5 5 NaN", "16:8", "expected a finite z of node 99, found `NaN`");
    refused("99 5 5 5", "99 -inf 5 5", "16:4", "expected a finite x of node 99, found `-inf`");
    refused("99 5 5 5", "99 5 1e999 5", "16:6", "expected a finite y of node 99, found `1e999`");
    refused("99 5 5 5", "99 5 5", "16:7", "the line ends, expected a finite z of node 99");
    refused("99 5 5 5", "99 5 5 5 5", "16:10", "expected the end of the line, found `5`");
    refused("99 5 5 5", "20 5 5 5", "17:1", "node 20 is given twice, expected every tag once");
    truncated(GMSH_22, " 1e-3 0 0", "17:3: $Nodes", "the file ends, expected a finite x of node 20");
}

#[test]
fn elements_of_2_2() {
    let refused = |piece, by, place, fragment| refused(GMSH_22, piece, by, &format!("{place}: $Elements"), fragment);
    refused("7 20 30 40", "7 20 31 40", "25:20", "element 12 refers to node 31, which is not in `$Nodes`");
    refused("7 20 30 40", "7 20 30 -4", "25:23", "expected node 4 of 4 of element 12, found `-4`");
    refused("7 20 30 40", "7 20 30", "25:22", "the line ends, expected node 4 of 4 of element 12");
    refused("7 20 30 40", "7 20 30 40 50", "25:26", "expected the end of the line, found `50`");
    refused("12 4 3", "12 4 9", "25:25", "the line ends, expected tag 8 of 9 of element 12");
    refused("12 4 3", "12 11 3", "25:4", "element 12 is a tetrahedron of second or higher order (type 11)");
    refused("12 4 3", "12 5 3", "25:4", "element 12 is a solid other than a tetrahedron (type 5), expected type 4");
    refused("12 4 3", "12 2 3", "21:1", "no tetrahedra with 4 nodes, expected at least one (3 elements of other");
    truncated(GMSH_22, "2 2 2", "23:13: $Elements", "the file ends, expected the tag of element 2 of 3");
}

#[test]
fn blocks_of_4_1() {
    let nodes = |piece, by, place, fragment| refused(GMSH_41, piece, by, &format!("{place}: $Nodes"), fragment);
    nodes("2 5 1 50", "2 6 1 50", "8:3", "found 5 in the blocks of this section, expected the 6 announced here");
    nodes("2 5 1 50", "3 5 1 50", "21:1", "expected the dimension of block 3 of 3, found `$EndNodes`");
    nodes("2 5 1 50", "1 5 1 50", "8:3", "found 3 in the blocks of this section, expected the 5 announced here");
    nodes("2 5 1 50", "2 5 1", "8:6", "the line ends, expected the largest tag");
    nodes("3 -1 0 2", "3 -1 0 3", "19:1", "expected the tag of node 3 of 3 in block 2, found `1e-3`");
    nodes("3 -1 0 2\n20", "3 -1 0 2\n7", "17:1", "node 7 is given twice, expected every tag once");
    nodes("2 1 1 3", "2 1 0 3", "13:12", "expected the end of the line, found `0.5`");

    let elements = |piece, by, place, fragment| refused(GMSH_41, piece, by, &format!("{place}: $Elements"), fragment);
    elements("2 2 1 12", "2 3 1 12", "26:3", "found 2 in the blocks of this section, expected the 3 announced here");
    elements("3 1 4 1", "3 1 4 2", "31:1", "expected the tag of element 2 of 2 in block 2, found `$EndElements`");
    elements("3 1 4 1", "3 1 11 1", "29:5", "(type 11), expected 4 nodes (type 4): mesh again with element order 1");
    elements("12 7 20 30 40", "12 7 20 30 41", "30:12", "element 12 refers to node 41, which is not in `$Nodes`");
    elements("12 7 20 30 40", "12 7 20 30 40\n1 7", "31:1", "expected `$EndElements`, found `1`");
    truncated(GMSH_41, "12 7", "29:8: $Elements", "the file ends, expected the tag of element 1 of 1 in block 2");
}
